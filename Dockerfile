# One image for web, worker and beat; docker-compose.yml says which is which.
FROM python:3.12-slim

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1

RUN useradd --uid 10001 --create-home litmus && install -d -o litmus -g litmus /data
WORKDIR /app
COPY requirements.txt ./
RUN pip install --requirement requirements.txt
COPY . .

USER litmus
# A stylesheet that names a missing file fails here and not at the start. What this makes is thrown away, and so is
# the secret: the image holds none.
RUN LITMUS_DATA_DIR=/tmp/build LITMUS_SECRET_KEY=only-while-the-image-is-being-built-0123456789 \
    python manage.py collectstatic --noinput --verbosity=0 && rm -rf /tmp/build

ENV LITMUS_DATA_DIR=/data
VOLUME /data
EXPOSE 8000
CMD ["gunicorn", "--config=python:litmus_site.serving", "--bind=0.0.0.0:8000", "litmus_site.wsgi"]
